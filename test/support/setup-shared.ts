import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { prepareEnvironment } from './environment.ts'

// Runs before the imports of each test file of project `shared`, whose files run one after another in one
// process: the first one prepares it. The end of the whole run drops the databases (global.ts).

const shared = globalThis as { vestibuleEnvironment?: ReturnType<typeof prepareEnvironment> }
shared.vestibuleEnvironment ??= prepareEnvironment()
await (await shared.vestibuleEnvironment).database
// Vitest sets BASE_URL to the base path of Vite before each file, and a later file may be the first that
// imports src/core/env.ts.
process.env.BASE_URL = 'http://localhost:3000'

// A clock that a test sets must not reach the next file.
afterEach(() => vi.useRealTimers())

// The files send to the same phone numbers.
beforeAll(async () => {
  const { skipEarlierMessages } = await import('./calls.ts')
  await skipEarlierMessages()
})

// A stream that a file left open would send statements while the next file counts its own.
afterAll(async () => {
  const [{ endAllStreams }, { Unavailable }] = await Promise.all([
    import('../../src/access/watch-token.ts'),
    import('../../src/core/errors.ts'),
  ])
  endAllStreams(new Unavailable('The test file has ended.'))
})
