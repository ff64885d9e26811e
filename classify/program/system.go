package program

// systemSpecs describes what asks and changes the services of the machine.
func systemSpecs() []*Spec {
	const shown = ` -l,--full -n,--lines:text -o,--output:text -a,--all -p,--property:text -P:text -t,--type:text
		--state:text -q,--quiet --failed --user --system --plain --no-legend --legend:text --no-pager --value --reverse
		--before --after --no-ask-password --recursive -r --with-dependencies -T,--show-transaction --timestamp:text `
	return []*Spec{
		{Names: "systemctl", Options: shown + "--version -h,--help", Operands: "sub?", Effects: "observes_host reaches",
			Sub: []*Spec{
				{Names: `status list-units list-unit-files list-timers list-sockets list-dependencies list-jobs
					list-automounts list-paths list-machines is-active is-enabled is-failed is-system-running show cat
					get-default show-environment`,
					Options: shown, Operands: "text*", Abbreviates: true},
				{Names: `start stop reload restart try-restart reload-or-restart isolate kill freeze thaw enable disable
					reenable preset mask unmask link revert add-wants add-requires edit set-property set-default
					daemon-reload daemon-reexec reset-failed set-environment unset-environment import-environment clean
					log-level log-target service-watchdogs bind mount-image cancel`, Raw: true, Effects: "writes",
					Judge: effectsAlone},
				{Names: `halt poweroff reboot kexec soft-reboot exit switch-root suspend hibernate hybrid-sleep rescue
					emergency default`,
					Raw: true, Effects: "writes destroys", Judge: effectsAlone},
			}},
		{Names: "journalctl", Options: `--system --user -S,--since:text -U,--until:text -c,--cursor:text
			--after-cursor:text --show-cursor --cursor-file:write -b,--boot?:text -u,--unit:text --user-unit:text
			-t,--identifier:text -p,--priority:text --facility:text -g,--grep:text --case-sensitive?:text -k,--dmesg
			-e,--pager-end -f,--follow!long_running -n,--lines?:text --no-tail -r,--reverse -o,--output:text
			--output-fields:text --utc -x,--catalog --no-hostname --no-full --full -l -a,--all -q,--quiet --no-pager
			-m,--merge -N,--fields -F,--field:text --list-boots --disk-usage --header --list-catalog --verify
			--vacuum-size:text!writes,destroys --vacuum-files:text!writes,destroys --vacuum-time:text!writes,destroys
			--rotate!writes --flush!writes --sync!writes --relinquish-var!writes --smart-relinquish-var!writes
			--update-catalog!writes --setup-keys!writes --interval:text --force -D,--directory:read --file:read
			-h,--help --version`,
			Operands: "text*", Effects: "observes_host reads_elsewhere", Abbreviates: true},
		{Names: "resolvectl networkctl bootctl busctl coredumpctl", Raw: true,
			Effects: "writes reaches observes_host", Judge: effectsAlone},
		{Names: "machinectl", Raw: true, Carries: "command", Effects: "writes reaches observes_host", Judge: effectsAlone},
		{Names: "service rc-service initctl launchctl supervisorctl pm2 update-rc.d chkconfig", Raw: true,
			Effects: "writes reaches observes_host", Judge: effectsAlone},
		{Names: "shutdown reboot poweroff halt init telinit", Raw: true, Effects: "writes destroys",
			Judge: effectsAlone},
		{Names: "at batch atrm", Raw: true, Carries: "shell", Effects: "writes", Judge: effectsAlone},
		{Names: "iptables ip6tables nft ufw firewall-cmd modprobe insmod rmmod swapon swapoff", Raw: true,
			Effects: "writes", Judge: effectsAlone},
		{Names: "userdel groupdel deluser delgroup", Raw: true, Effects: "writes destroys", Judge: reason("removes an account")},
		{Names: "useradd usermod groupadd groupmod passwd chpasswd adduser visudo vipw",
			Raw: true, Effects: "writes", Judge: effectsAlone},
	}
}
