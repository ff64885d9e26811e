// Compares what the conformance suite found with what is expected, and prints one line for each scenario.
//
//   node judge.mjs REVISION RESULTS EXPECTED LIST
//
// EXPECTED has a line for each known failure: the revision, the scenario or SCENARIO:CHECK, and the reason, with tabs in
// between. LIST is what the suite says that the revision requires.
import fs from 'node:fs';
import path from 'node:path';

const [revision, resultsDir, expectedFile, listFile] = process.argv.slice(2);

// expected are the known failures of this revision: their reasons by scenario or by scenario:check.
const expected = new Map(fs.readFileSync(expectedFile, 'utf8').split('\n').filter(line => line && !line.startsWith('#')).map(line => {
  const [when, what, why] = line.split('\t');
  if (!why) throw new Error(`${expectedFile}: not REVISION, SCENARIO and REASON with tabs in between: ${line}`);
  return [when, what, why];
}).filter(([when]) => when === revision).map(([, what, why]) => [what, why]));

// required are the scenarios that must have run.
const required = new Set();
let server = false;
for (const line of fs.readFileSync(listFile, 'utf8').split('\n')) {
  if (/scenarios \(/.test(line)) server = line.startsWith('Server');
  const [, name, leg] = /^\s+- (\S+?)(?: \[(\w+)\])?$/.exec(line) ?? [];
  if (name && (leg === 'server' || (server && !leg))) required.add(name);
}

// found are the checks of each scenario.
const found = new Map();
for (const dir of fs.existsSync(resultsDir) ? fs.readdirSync(resultsDir) : []) {
  const [, name] = /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(dir) ?? [];
  const file = path.join(resultsDir, dir, 'checks.json');
  if (name && fs.existsSync(file)) found.set(name, JSON.parse(fs.readFileSync(file, 'utf8')));
}

const used = new Set();
let failures = 0;
const say = (word, name, rest) => console.log(`${word.padEnd(5)} ${revision} ${name}${rest ? `: ${rest}` : ''}`);
const fail = (name, why) => {
  failures++;
  say('FAIL', name, why);
};

for (const name of new Set([...required, ...found.keys()])) {
  const checks = found.get(name);
  const whole = expected.get(name);
  if (!checks) {
    fail(name, 'the suite did not run it');
    continue;
  }
  const bad = checks.filter(check => ['FAILURE', 'WARNING'].includes(check.status));
  const unexpected = bad.filter(check => !whole && !expected.has(`${name}:${check.id}`));
  bad.forEach(check => used.add(whole ? name : `${name}:${check.id}`));
  for (const check of unexpected) {
    fail(`${name}:${check.id}`, String(check.errorMessage ?? check.status).slice(0, 400));
  }
  if (unexpected.length > 0) continue;
  const reasons = new Set(bad.map(check => whole ?? expected.get(`${name}:${check.id}`)));
  if (bad.length > 0) say('known', name, [...reasons].join('; '));
  else say('ok', name);
}
for (const what of expected.keys()) {
  if (!used.has(what)) fail(what, `it is in ${path.basename(expectedFile)}, and does not fail any more: take it out`);
}
process.exit(failures > 0 ? 1 : 0);
