import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidInput } from '../../src/core/errors.ts'
import { log } from '../../src/core/log.ts'
import { createLinesResponse } from '../../src/rest/ndjson-stream.ts'

/** Promise.withResolvers of Node 22. */
function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

describe('a response in lines', () => {
  test.each([
    ['the next line', () => {}],
    [
      'an error',
      () => {
        throw new InvalidInput([])
      },
    ],
  ])('stops its source and logs no error when the client disconnects before %s', async (_, end) => {
    const logged = vi.spyOn(log, 'error')
    onTestFinished(() => logged.mockRestore())
    const requested = deferred()
    const made = deferred()
    const release = vi.fn()
    async function* lines(): AsyncGenerator<object[]> {
      yield [{ line: 1 }]
      requested.resolve()
      await made.promise
      end()
      yield [{ line: 2 }]
      yield [{ line: 3 }]
    }
    const source = lines()
    const { body } = createLinesResponse(
      'request',
      {},
      { lines: source, recheck: async () => {}, release, emitsErrorLine: true },
    )
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"line":1}\n')
    const next = reader.read()
    await requested.promise
    const left = reader.cancel()
    made.resolve()
    await Promise.allSettled([left, next])
    expect(release).toHaveBeenCalled()
    expect(await source.next()).toEqual({ done: true, value: undefined })
    expect(logged.mock.calls).toEqual([])
  })
})
