# What the command lines of errors.txt use.

# request PATH ARGUMENTS... sends a request with curl to a server that ends afterwards. $A is the header with its token, $J says JSON.
A='Authorization: Bearer a-token-of-the-cases' J='Content-Type: application/json'
request() {
	(umask 077; echo a-token-of-the-cases > token)
	coproc server { exec toolhost serve --http 127.0.0.1:0 --http-token-file token; }
	local pid=$server_PID answer url
	read -r url <&"${server[0]}"
	url=${url#*'"url":"'} url=${url%%'"'*}
	answer=$(curl -sS --max-time 60 -w '%{http_code}\n' "$url$1" "${@:2}")
	kill "$pid"
	wait "$pid"
	echo "$answer"
	return 22
}

# after FIRST CHANGE SECOND makes the call FIRST, runs CHANGE, and makes the call SECOND in the same session. It prints the error of SECOND.
after() {
	coproc host { exec toolhost serve --mode accept_edits; }
	local pid=$host_PID answer in=${host[1]} out=${host[0]}
	invoke "$1" >&"$in"
	read -r answer <&"$out"
	eval "$2"
	invoke "$3" >&"$in"
	read -r answer <&"$out"
	kill "$pid"
	wait "$pid"
	answer=${answer#*'"error_code":"'}
	echo "${answer%%'","recoverability"'*}"
	return 1
}

# invoke TOOL INPUT, as one word, is the message that makes a call.
invoke() {
	echo '{"jsonrpc":"2.0","id":1,"method":"agenttool/invoke","params":{"id":"c1","tool":"'"${1%% *}"'","input":'"${1#* }"'}}'
}
