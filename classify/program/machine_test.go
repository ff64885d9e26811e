package program

import "testing"

func TestMachine(t *testing.T) {
	runDevCases(t, []devCase{
		{"lscpu -J", "ro observes_host"},
		{"lsblk -o NAME", "ro observes_host"},
		{"findmnt -p", "ro observes_host long_running"},
		{"last -d", "ro observes_host reaches"},
		{"dmesg -T", "ro observes_host"},
		{"dmesg -w", "ro observes_host long_running"},
		{"dmesg -H", "ro observes_host pages"},
		{"dmesg -Tc", "observes_host writes"},
		{"dmesg --cl", "observes_host writes"},
		{"dmesg -n 1", "observes_host writes"},
		{"sysctl vm.swappiness", "ro observes_host"},
		{"sysctl vm.swappiness=1", "observes_host writes"},
		{"sysctl -p", "observes_host writes"},
		{`sysctl "$x"`, "? observes_host"},
		{"mount", "ro observes_host"},
		{"mount -a", "? observes_host"},
		{"mount a b", "? observes_host"},
		{"crontab -l", "ro reads_elsewhere"},
		{"crontab -l f", "reads_elsewhere writes"},
		{"crontab", "reads_elsewhere writes"},
		{"crontab -r", "destroys reads_elsewhere writes"},
		{"getent passwd root", "ro"},
		{"getent hosts x", "ro reaches"},
		{"getent -s x passwd", "? reaches"},
		{"hostnamectl", "ro observes_host reaches"},
		{"hostnamectl hostname x", "observes_host reaches writes"},
		{"loginctl kill-session 1", "observes_host reaches writes"},
		{"lspci -Q", "? observes_host"},
	})
}

func TestInterfaces(t *testing.T) {
	runDevCases(t, []devCase{
		{"ip addr", "ro observes_host"},
		{"ip -br -4 a show dev lo", "ro observes_host"},
		{"ip -f inet route", "ro observes_host"},
		{"ip --json link", "ro observes_host"},
		{"ip -color=never link", "ro observes_host"},
		{"ip route get 1.1.1.1", "ro observes_host"},
		{"ip addr get x", "? observes_host"},
		{"ip link set lo down", "? observes_host"},
		{"ip -b f", "? observes_host"},
		{"ip -batch f", "? observes_host"},
		{"ip -n x addr", "? observes_host"},
		{"ip netns exec x ls", "? observes_host"},
		{`ip "$x" addr`, "? observes_host"},
		{`ip addr "$x"`, "? observes_host"},
		{"netstat -rn", "ro observes_host"},
		{"netstat -t", "ro observes_host reaches"},
		{"netstat -c -n", "ro observes_host long_running"},
		{"ifconfig lo", "ro observes_host"},
		{"ifconfig lo down", "? observes_host"},
		{"route -n", "ro observes_host"},
		{"route -n add x", "? observes_host reaches"},
		{"arp -n", "ro observes_host"},
		{"arp -d x", "? observes_host reaches"},
		{"arp -n x", "ro observes_host reaches"},
	})
}

func TestPackages(t *testing.T) {
	runDevCases(t, []devCase{
		{"dpkg -l bash", "ro"},
		{"dpkg --compare-versions 1 lt 2", "ro"},
		{"dpkg -i x.deb", "runs_code writes"},
		{"dpkg x", "writes"},
		{"dpkg --pre-invoke=./x -l", "?"},
		{"dpkg-query -W", "ro"},
		{"apt list --installed", "ro not_concurrent"},
		{"apt -o a=b list", "?"},
		{"apt-cache policy x", "ro not_concurrent"},
		{"apt-get update", "reaches writes"},
		{"rpm --version", "ro"},
		{"rpm -qa", "? writes"},
		{"rpm -e x", "? writes"},
		{"pip show x", "ro"},
		{"pip list", "ro"},
		{"pip list --disable-pip-version-check", "ro"},
		{"pip freeze", "runs_code"},
	})
}

func TestCrypto(t *testing.T) {
	runDevCases(t, []devCase{
		{"openssl x509 -in c.pem -noout -text", "ro"},
		{`openssl x509 -in "$x" -noout`, "?"},
		{"openssl x509 -in org.openssl.engine:x:y", "?"},
		{"openssl x509 -in c.pem -out d", "?"},
		{"openssl dgst -sha256 f", "ro"},
		{"openssl genrsa", "?"},
		{"ssh -V", "ro"},
		{"ssh -V h", "interactive reaches runs_code writes"},
		{"ssh-keygen -lf k", "ro"},
		{"ssh-keygen -f k", "writes"},
		{"ssh-add -l", "ro reaches"},
		{"ssh-add", "reaches writes"},
	})
}

func TestInspect(t *testing.T) {
	runDevCases(t, []devCase{
		{"bat -p f", "ro pages"},
		{"bat cache", "? pages"},
		{"bat $x", "? pages"},
		{"bat --pager x f", "? pages"},
		{"eza -la --git", "ro reads_tree"},
		{"shellcheck -x f", "ro reads_elsewhere"},
		{"xmllint --noout f", "ro"},
		{"xmllint http://x/f", "ro reaches"},
		{"xmllint --output x f", "?"},
		{"diffstat -o x", ""},
		{"diffstat x.gz", "?"},
		{"ar t a", "ro"},
		{"ar -tv a", "ro"},
		{"ar rt a", "?"},
		{"ar tN a", "?"},
		{"ar t @f", "?"},
		{"ar v a", "?"},
		{"plutil -p f", "ro"},
		{"plutil -convert xml1 f", "?"},
		{"plutil -lint f -remove x", "?"},
		{"defaults read x", "ro reads_elsewhere"},
		{"defaults delete x", "destroys writes"},
	})
}

func TestServices(t *testing.T) {
	runDevCases(t, []devCase{
		{"aws s3 ls", "ro not_concurrent reaches"},
		{"aws --region x ec2 describe-instances --query y", "ro not_concurrent reaches"},
		{"aws --endpoint-url x ec2 describe-instances", "not_concurrent reaches writes"},
		{"aws s3api get-object --bucket b --key k out", "not_concurrent reaches writes"},
		{`aws ec2 "$x"`, "? not_concurrent reaches"},
		{"helm -n x list -o json", "ro reaches"},
		{"helm install x", "reaches runs_code writes"},
		{"terraform version", "ro not_concurrent reaches"},
		{"terraform -version", "ro not_concurrent reaches"},
		{"terraform destroy", "destroys reaches runs_code writes"},
	})
}

func TestSyntaxChecks(t *testing.T) {
	runDevCases(t, []devCase{
		{"bash -n f", "ro"},
		{"dash -n f", "ro"},
		{"bash -n", "ro"},
		{"bash -n +n f", "runs_code"},
		{`bash -n "$x"`, "? runs_code"},
		{"bash -n -i f", "interactive runs_code"},
		{"bash -nc x", "runs_code"}, // the text is the caller's to judge
		{"bash -n +o noexec f", "?"},
		{"zsh -n f", "runs_code"},
		{"node --check f", "ro"},
		{`node -c "$f`, "runs_code"},
		{"node --check -r", "runs_code"},
		{"node -c f g", "runs_code"},
		{"php -l f", "ro"},
		{"ruby -c f", "runs_code"},
	})
}
