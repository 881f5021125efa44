import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ensureBuilt } from './build.ts'

/** A process that was started by a test, and what it has printed. */
export type RunningCommand = {
  child: ChildProcess
  stdout: string
  stderr: string
  ended: Promise<number | null>
}
export type CommandResult = { code: number | null; stdout: string; stderr: string }

/** Starts node with `args`, the environment of this process, and `variables`. */
export function startNode(args: readonly string[], variables: Record<string, string> = {}): RunningCommand {
  ensureBuilt()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NO_COLOR: '1', ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const command: RunningCommand = { child, stdout: '', stderr: '', ended }
  // A command may end before it has read its input.
  child.stdin.on('error', () => {})
  child.stdout.on('data', (chunk) => {
    command.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    command.stderr += chunk
  })
  return command
}

/** Runs node without input to its end. */
export async function runNode(
  args: readonly string[],
  variables?: Record<string, string>,
): Promise<CommandResult> {
  const command = startNode(args, variables)
  command.child.stdin?.end()
  const code = await command.ended
  return { code, stdout: command.stdout, stderr: command.stderr }
}

/** Starts `vestibule …`. */
export const startVestibule = (args: readonly string[], variables?: Record<string, string>): RunningCommand =>
  startNode(['dist/cli.js', ...args], variables)

let runner: ChildProcess | undefined
let count = 0

/** Starts the process that runs the commands of all tests of this process; it ends with this process. */
function startRunner(): ChildProcess {
  ensureBuilt()
  return fork(join(import.meta.dirname, 'cli-runner.mjs'), {
    env: { ...process.env, NO_COLOR: '1' },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  }).setMaxListeners(100)
}

/**
 * Runs `vestibule …` without input to its end: in a process of its own with `variables`, otherwise in one that
 * runs the commands of all tests.
 */
export async function vestibule(
  args: readonly string[],
  variables?: Record<string, string>,
): Promise<CommandResult> {
  if (variables) return runNode(['dist/cli.js', ...args], variables)
  runner ??= startRunner()
  const child = runner
  const id = ++count
  return new Promise((resolve, reject) => {
    const receive = (answer: { id: number; result: CommandResult }) => {
      if (answer.id !== id) return
      child.off('message', receive).off('exit', fail)
      resolve(answer.result)
    }
    const fail = (code: number | null) =>
      reject(new Error(`the process that runs commands ended with ${code}`))
    child.on('message', receive).once('exit', fail)
    child.send({ id, args })
  })
}
