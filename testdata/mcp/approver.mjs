// Allows every prompt of the sessions below this home once, with toolhost approve, and writes a line for each to a file.
//
//   node approver.mjs TOOLHOST ASKED.txt [SECONDS]      it thinks so long before each answer
import fs from 'node:fs';
import readline from 'node:readline';
import { spawn } from 'node:child_process';

const [toolhost, asked, seconds = 0] = process.argv.slice(2);
const approve = spawn(toolhost, ['approve', '--json'], { stdio: ['pipe', 'pipe', 'inherit'] });
process.on('SIGTERM', () => approve.kill());
approve.on('exit', () => process.exit());
for await (const line of readline.createInterface({ input: approve.stdout })) {
  const said = JSON.parse(line);
  if (said.event !== 'prompt') {
    console.log(line);
    continue;
  }
  fs.appendFileSync(asked, `${JSON.stringify(said.prompt)}\n`);
  setTimeout(() => approve.stdin.write(`${said.number} once\n`), seconds * 1000);
}
