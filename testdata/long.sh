#!/usr/bin/env bash
# Runs the long form of the tests whose ordinary form takes a part of it: every attempt to get out of the sandbox as every account at every
# level and by every profile, everyday work as every account, by itself and in an empty build cache, what a yes opens as every account,
# programs that wait, their output and pagers at every level, every row of the tables in every mode, more rounds of races, of attackers, of
# soaks, of bombs and of searches, more output of jobs, more calls at once, more random batches,
# more sizes of the window of toolhost approve.
# Prints one line for each test and how many parts passed:
#
#   testdata/long.sh
#
# Longer still: programs.sh, builds.sh, escapes/attack.sh, escapes/race.sh, jobs/soak.sh, fuzz.sh, faults/*.
set -euo pipefail
cd "$(dirname "$0")/.."
export TOOLHOST_LONG=1 TOOLHOST_ROUNDS=60 CGO_ENABLED=0
printf '%s, %s processors, Linux %s\n' "$(date -u +%F)" "$(nproc)" "$(uname -r)"
go test -count=1 -timeout 60m -v -run '^(TestEscapes|TestEscapesAsked|TestApprovedIsGranted|TestMadeStaysOpen|TestPushesStayOpen|TestWorktreeGoesWithCopy|TestMadeGoesWithCopy|TestPackageStaysOpen|TestApprovalsOfItself|TestSettingsOfItself|TestSettingsUntracked|TestAttack|TestWork|TestJobsLeftovers|TestJobOutput300MB|TestFiftyJobs|TestSplitCharacter|TestPagerIsNoShell|TestPrograms|TestFinishedJobs|TestFinishedJobsAreSmall|TestFrontLoad|TestFamiliesShareAStream|TestReading|TestStatusOfJobs|TestTwoHosts|TestNothingHangs|TestToolsReadNoCredentials|TestJobsSoak|TestFloodLeavesLittle|TestOrderOfConflictingCalls|TestOrderOfConflictingRequests|TestStatusAtAnyTime|TestVerdictsDoNotFlip|TestCheckAndCallAgree|TestBombsEndWithTheirCalls|TestModulesAreVerified|TestUndo|TestUndoObjects|TestPointedNames|TestHookAnswers|TestHookExchanged|TestOneMap)$' ./cmd/toolhost |
  awk '/^ *--- / { n[$2]++; if ($2 == "FAIL:") bad = 1 } /^(--- |FAIL|ok|panic)/ { print } END { for (r in n) print n[r], "tests and parts of tests:", r; exit bad }'
go test -count=1 -timeout 60m -run 'EqualsCold|Calm|BatchesHoldTheirPromises|EverySize' ./tools/search/engine ./host ./cmd/toolhost/internal/approve/screen
go test -count=1 -timeout 60m -v -run '^TestBombsEnd$' ./sandbox
go test -count=1 -timeout 60m -v -run '^TestReloadsWhileCallsRun$' ./cmd/toolhost/internal/session
OPERANDS=all go test -count=1 -timeout 60m -run '^TestOperandsArePaths$' ./classify/program
