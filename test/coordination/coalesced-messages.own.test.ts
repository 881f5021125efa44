import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { subscribe } from '../../src/coordination/bus.ts'
import { publishCoalesced } from '../../src/coordination/coalesced-messages.ts'

// In a process of its own: with Redis, a process also receives its own messages.
describe('publishCoalesced', () => {
  test('sends the first message at once, and those that follow as one', async () => {
    const heard: string[] = []
    const stop = subscribe('news', (message) => heard.push(message))
    for (let i = 0; i < 50; i++) publishCoalesced('news', 'one')
    expect(heard).toEqual(['one'])
    publishCoalesced('news', 'two')
    expect(heard).toEqual(['one', 'two'])
    await expect.poll(() => heard).toEqual(['one', 'two', 'one'])
    // Without a message within the pause, the next one is sent at once.
    await sleep(100)
    expect(heard).toHaveLength(3)
    publishCoalesced('news', 'one')
    expect(heard).toHaveLength(4)
    stop()
  })

  test('loses no message that is published while others wait', async () => {
    let sent = 0
    let seen = 0
    const stop = subscribe('counted', () => {
      seen = sent
    })
    for (; sent < 200; ) {
      sent += 1
      publishCoalesced('counted', 'x')
      if (sent % 20 === 0) await sleep(7)
    }
    await expect.poll(() => seen).toBe(200)
    stop()
  })
})
