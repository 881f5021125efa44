import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { toServerSentEvents } from '../../../src/graphql/live/sse.ts'
import { createStream } from '../../../src/graphql/live/stream.ts'

/** A subscription without events, and the stream of its response. */
function openSilentStream() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const end = vi.fn(async () => ({ done: true as const, value: undefined }))
  const results = { next: () => new Promise(() => {}), return: end } as unknown as AsyncGenerator<object>
  const context = { ctx: createPlatformCtx('acme'), stream: createStream(null) }
  return { stream: toServerSentEvents(results, context, () => {}), end }
}

describe('an event stream', () => {
  test('ends when its client has read nothing for a minute', async () => {
    const { stream, end } = openSilentStream()
    vi.advanceTimersByTime(59_000)
    expect(end).not.toHaveBeenCalled()
    vi.advanceTimersByTime(2000)
    expect(end).toHaveBeenCalledTimes(1)
    await expect(stream.getReader().read()).rejects.toThrow('does not read')
  })

  test('goes on while its client reads the pings', async () => {
    const { stream, end } = openSilentStream()
    const reader = stream.getReader()
    for (let round = 0; round < 10; round += 1) {
      expect((await reader.read()).done).toBe(false)
      vi.advanceTimersByTime(12_000)
    }
    expect(end).not.toHaveBeenCalled()
  })
})
