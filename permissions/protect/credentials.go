package protect

// homeSecrets are the files and directories below a home directory that hold credentials of programs, or records of typed and
// displayed text. A directory is listed only if it holds nothing that ordinary work needs.
var homeSecrets = []string{
	// keys, and version control
	`.ssh .gnupg .password-store .config/age .config/sops .netrc .authinfo .authinfo.gpg .git-credentials .gitcookies .config/git/credentials
	.config/gh .config/hub .config/glab-cli .config/tea .config/lab .config/jj/secret.toml .subversion/auth .p4tickets .config/jgit`,
	// clouds
	`.aws .azure .config/gcloud .boto .oci .aliyun .tccli .bluemix .config/doctl .config/hcloud .config/linode-cli .config/scw
	.config/exoscale .config/vultr-cli.yaml .vultr-cli.yaml .config/heroku .config/netlify .local/share/com.vercel.cli .config/vercel .vercel
	.fly/config.yml .railway .render .config/.wrangler .wrangler .cloudflared .config/supabase .supabase .config/planetscale .config/turso
	.config/neonctl .config/configstore .config/stripe .config/ngrok .ngrok2 .config/rclone .s3cfg .mc .config/openstack .databrickscfg
	.snowsql .snowflake .dbt/profiles.yml .bigqueryrc`,
	// machines and their services
	`.kube .docker/config.json .config/containers/auth.json .config/helm .minikube .config/k9s .vault-token .vault_pass.txt .config/op
	.config/Bitwarden .config/1Password .lastpass .local/share/lpass .local/share/keyrings .local/share/kwalletd
	.terraform.d/credentials.tfrc.json .terraformrc .pulumi .config/argocd .argocd .circleci .travis .config/sentry .sentryclirc
	.config/pagerduty .chef .puppetlabs .ansible .vagrant.d/insecure_private_key .vagrant.d/insecure_private_keys .tailscale
	.config/wireguard`,
	// agents and assistants
	`.claude/.credentials.json .claude/projects .claude/history.jsonl .claude/todos .claude/shell-snapshots .claude.json
	.config/claude .config/Claude .codex/auth.json .codex/history.jsonl .codex/sessions .codex/log .gemini/oauth_creds.json
	.gemini/google_accounts.json .gemini/.env .gemini/tmp .qwen/oauth_creds.json .qwen/tmp .config/github-copilot .copilot
	.config/opencode/auth.json .local/share/opencode .local/share/crush .config/crush .cursor/mcp.json .config/Cursor .config/Code
	.config/VSCodium .config/Windsurf .codeium .continue .aider.conf.yml .config/goose .config/io.datasette.llm .config/shell_gpt
	.config/aichat .config/fabric .config/zed .local/share/zed .config/amp .local/share/amp .kiro .ollama/id_ed25519 .ollama/history
	.cache/huggingface/token .cache/huggingface/stored_tokens .huggingface .config/openai .openai .anthropic .kaggle .config/wandb
	.config/replicate`,
	// packages
	`.npmrc .yarnrc .config/pnpm .bunfig.toml .pypirc .config/pypoetry .local/share/uv/credentials .cargo/credentials
	.cargo/credentials.toml .gem/credentials .local/share/gem/credentials .bundle/config .composer/auth.json .config/composer/auth.json
	.nuget/NuGet .m2/settings-security.xml .config/hex .hex/hex.config .pub-cache/credentials.json .config/dart .conda/aau_token
	.condarc.token .continuum .cpanreporter .pause .julia/servers .opam/download-auth .dotnet/corefx .config/nix .config/cachix
	.android .config/rustic .config/borg .config/restic .duplicity`,
	// databases
	`.pgpass .my.cnf .mylogin.cnf .mongodb .mongorc.js .rediscli_auth .config/redis .clickhouse-client .cassandra .influxdbv2
	.local/share/DBeaverData`,
	// histories
	`.bash_history .zsh_history .zsh_sessions .bash_sessions .histfile .zhistory .history .sh_history .ksh_history .local/share/fish
	.config/fish/fish_variables .local/share/nushell .config/nushell/history.txt .local/share/xonsh .local/share/atuin .python_history
	.ipython .jupyter .node_repl_history .irb_history .pry_history .local/share/pry .Rhistory .julia/logs .psql_history .mysql_history
	.mariadb_history .sqlite_history .rediscli_history .dbshell .lesshst .viminfo .local/share/nvim/shada .local/state/nvim .wget-hsts
	.local/share/recently-used.xbel .lldb .gdb_history .php_history .scala_history .kubectx .config/asciinema .local/state/less
	.local/state/bash .local/state/zsh`,
	// browsers and mail
	`.mozilla .config/mozilla .config/google-chrome .config/google-chrome-beta .config/google-chrome-unstable .config/chromium
	.config/BraveSoftware .config/microsoft-edge .config/microsoft-edge-dev .config/vivaldi .config/opera .librewolf .zen .floorp .waterfox
	.cache/mozilla .cache/google-chrome .cache/chromium .var/app snap/firefox snap/chromium snap/brave snap/thunderbird .thunderbird
	.config/evolution .local/share/evolution .cache/evolution .muttrc .mutt .config/mutt .config/neomutt .msmtprc .config/msmtp .mbsyncrc
	.offlineimaprc .fetchmailrc .getmail Maildir Mail`,
	// chats, wallets, desktops
	`.config/Slack .config/discord .config/Signal .config/Element .local/share/TelegramDesktop .config/teams-for-linux .config/weechat
	.weechat .local/share/weechat .irssi .config/hexchat .purple .bitcoin .electrum .ethereum .config/solana .foundry/keystores .monero
	.config/Exodus .litecoin .dogecoin .near-credentials .sui .aptos .config/obs-studio .config/remmina .local/share/remmina .vnc
	.config/tigervnc .config/rustdesk .config/filezilla .smbcredentials .davfs2 .config/syncthing .local/state/syncthing .config/pulse
	.Xauthority .ICEauthority .config/transmission .config/spotify .local/share/Steam .minecraft`,
}

// spacedHomeSecrets are those with a space in the name.
var spacedHomeSecrets = []string{".config/Bitwarden CLI", ".config/Ledger Live"}

// systemSecrets are the secrets of the machine: its accounts, its keys, and the data of its services.
const systemSecrets = `
	/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/sudoers /etc/sudoers.d /etc/doas.conf /etc/tcb
	/etc/ssh/ssh_host_*_key /etc/ssl/private /etc/pki/tls/private /etc/pki/private /etc/letsencrypt /etc/krb5.keytab
	/etc/NetworkManager/system-connections /etc/wpa_supplicant /etc/wireguard /etc/openvpn /etc/ipsec.secrets /etc/ipsec.d /etc/swanctl
	/etc/ppp /etc/kubernetes /etc/rancher /etc/docker/key.json /etc/cryptsetup-keys.d /etc/crypttab /etc/mysql/debian.cnf
	/etc/postfix/sasl_passwd /etc/postfix/sasl_passwd.db /etc/exim4/passwd.client /etc/msmtprc /etc/bind/rndc.key /etc/rndc.key
	/etc/samba/private /etc/samba/smbpasswd /etc/sssd /etc/ldap.secret /etc/libnss-ldap.secret /etc/pam_ldap.secret /etc/vault.d
	/etc/consul.d /etc/nomad.d /etc/cloud/cloud.cfg.d/90_dpkg.cfg /etc/smbcredentials /etc/davfs2 /etc/fstab.secrets /etc/netplan
	/var/lib/samba/private /var/lib/sss /var/lib/NetworkManager /var/lib/bluetooth /var/lib/iwd /var/lib/tailscale /var/lib/rancher
	/var/lib/kubelet /var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/postgresql /var/lib/pgsql /var/lib/mysql /var/lib/mariadb /var/lib/redis
	/var/lib/mongodb /var/lib/jenkins /var/lib/gitea /var/lib/gitlab /var/lib/vault /var/lib/consul /var/lib/private
	/var/lib/systemd/credential.secret /var/lib/systemd/random-seed /var/lib/systemd/coredump /var/lib/acme /var/lib/caddy /var/lib/cloud /var/lib/libvirt
	/var/lib/lxd /var/lib/lxc /var/lib/incus /var/lib/machines /var/lib/fprint /var/lib/AccountsService /var/lib/gdm3 /var/lib/gdm /var/lib/sddm
	/var/lib/lightdm /var/lib/krb5kdc /var/lib/ldap /var/lib/dhcp /var/lib/openvpn /var/lib/influxdb /var/lib/grafana /var/lib/rabbitmq
	/var/spool/cron /var/spool/mail /var/mail /var/spool/postfix /var/spool/exim4 /var/backups /var/cache/debconf/passwords.dat /var/cache/samba
	/var/log/auth.log /var/log/secure /var/log/audit /var/log/sudo-io /var/log/btmp /var/crash /boot/loader/random-seed /swapfile /swap.img`
