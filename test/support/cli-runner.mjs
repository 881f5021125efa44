// Runs commands of the program one after another, as cli.ts forks it: loading the program takes most of the time
// of a command. Each command is evaluated anew by dist/cli.js, which opens and closes the database itself.
class Exit extends Error {}

let output = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'])
  process[name].write = (chunk, ...rest) => {
    output[name] += chunk
    rest.find((each) => typeof each === 'function')?.()
    return true
  }
process.exit = (code) => {
  process.exitCode = code
  throw new Exit()
}

let count = 0
async function runCommand(args) {
  output = { stdout: '', stderr: '' }
  process.exitCode = 0
  process.argv = [process.argv[0], 'vestibule', ...args]
  await import(`../../dist/cli.js?command=${count++}`).catch((error) => {
    if (!(error instanceof Exit)) throw error
  })
  return { code: process.exitCode, ...output }
}

let queue = Promise.resolve()
process.on('message', ({ id, args }) => {
  queue = queue.then(async () => process.send({ id, result: await runCommand(args) }))
})
