import { expect, onTestFinished, test, vi } from 'vitest'
import { InvalidInput } from '../src/errors.ts'
import { log } from '../src/log.ts'
import { linesResponse } from '../src/rest/lines.ts'

/** Promise.withResolvers, which Node 20 has not. */
function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test.each([
  ['the next line', () => {}],
  [
    'a refusal',
    () => {
      throw new InvalidInput([])
    },
  ],
])(
  'a reader who leaves while %s is being made is no fault, and nothing more is asked for',
  async (_, end) => {
    const logged = vi.spyOn(log, 'error')
    onTestFinished(() => logged.mockRestore())
    const asked = deferred()
    const made = deferred()
    const release = vi.fn()
    async function* lines(): AsyncGenerator<object[]> {
      yield [{ line: 1 }]
      asked.resolve()
      await made.promise
      end()
      yield [{ line: 2 }]
      yield [{ line: 3 }]
    }
    const source = lines()
    const { body } = linesResponse(
      'request',
      {},
      { lines: source, recheck: async () => {}, release, tellsErrors: true },
    )
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"line":1}\n')
    const next = reader.read()
    await asked.promise
    const left = reader.cancel()
    made.resolve()
    await Promise.allSettled([left, next])
    expect(release).toHaveBeenCalled()
    expect(await source.next()).toEqual({ done: true, value: undefined })
    expect(logged.mock.calls).toEqual([])
  },
)
