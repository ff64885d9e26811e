package sandbox

import (
	"os"
	"strings"
)

// Advice says what would make the sandbox stronger.
func Advice(f Finding) []string {
	if f.Level == Full && f.LandlockABI > 0 {
		return nil
	}
	var advice []string
	setting := func(path, bad, text string) {
		if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == bad {
			advice = append(advice, text)
		}
	}
	setting(userNamespaceLimit, "0", "sysctl user.max_user_namespaces=15000 (it is 0: no user namespaces)")
	setting(cloneSetting, "0", "sysctl kernel.unprivileged_userns_clone=1 (it is 0: user namespaces are root's alone)")
	setting(appArmorSetting, "1", "an AppArmor profile that lets toolhost use user namespaces, or sysctl kernel.apparmor_restrict_unprivileged_userns=0")
	if f.LandlockABI == 0 {
		advice = append(advice, "a kernel of 5.13 or later with landlock among its security modules (lsm=landlock,… on its command line)")
	}
	if len(advice) == 0 {
		advice = append(advice, "if this runs in a container: one that allows user namespaces and mounts in them (its seccomp and AppArmor profiles)")
	}
	return advice
}

// The settings that forbid user namespaces.
const (
	userNamespaceLimit = "/proc/sys/user/max_user_namespaces"
	cloneSetting       = "/proc/sys/kernel/unprivileged_userns_clone"
	appArmorSetting    = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
)
