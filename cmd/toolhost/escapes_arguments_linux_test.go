package main

import "toolhost/sandbox"

// flippable is a workspace with a repository, and with a directory of toolhost's own in which one file is missing.
func flippable(a *escapeAttempt) {
	repository(a)
	a.mkdir(a.path("ws/.toolhost"))
}

// argumentAttempts are calls whose arguments are not what a supervisor reads, or no longer.
var argumentAttempts = []attempt{
	{
		name: "names in memory that nobody else reads", at: watched, readOnly: true, shell: true, needs: "git", set: flippable,
		changes: "ws/attempt.sh ws/spare",
		script:  `for f in .toolhost/settings.local.json .git/commondir .envrc .vscode; do $P unseen $f spare; done`,
	},
	{
		name: "names of which another thread turns one byte", at: watched, needs: "git", set: flippable,
		changes: "ws/.toolhost/aettings.local.json ws/.git/aommondir ws/aenvrc ws/avscode",
		script: `$P flip .toolhost/aettings.local.json .toolhost/settings.local.json $ROUNDS; $P flip .git/aommondir .git/commondir $ROUNDS
			$P flip aenvrc .envrc $ROUNDS; $P flip avscode .vscode $ROUNDS; true`,
	},
	{
		name: "attributes by names that nobody else reads", at: []sandbox.Level{sandbox.LandlockNotify}, needs: "git", set: flippable,
		script: `$P unseen-attributes $OUT/file; $P unseen-attributes .git/config; true`,
	},
	{
		name: "attributes by names that change", at: []sandbox.Level{sandbox.LandlockNotify}, needs: "git", set: func(a *escapeAttempt) {
			flippable(a)
			a.host("touch .git/aonfig")
			a.write("wt/file", "pristine\n") // beside the workspace, one byte away
		},
		changes: "ws/.git/aonfig ws/file",
		script:  `$P flip-attributes .git/aonfig .git/config $ROUNDS; $P flip-attributes $DIR/ws/file $DIR/wt/file $ROUNDS; true`,
	},
}
