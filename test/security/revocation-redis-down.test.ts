import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { DOORS, type Door, openDoorsAfterEach, REVOCATIONS } from '../support/revocations.ts'

// Nobody listens there: what Redis only makes faster must hold without its help. Imports of src/ come after this.
vi.hoisted(() => {
  process.env.REDIS_URL = 'redis://127.0.0.1:1'
})

let app: TestApp
let open: Map<string, Door[]>

beforeAll(async () => {
  app = await startApp()
  open = await openDoorsAfterEach(app)
})
afterAll(() => app.close())

const ALL = [...Object.keys(DOORS), 'subscription', 'offline subscription'] as Door[]

describe('security 27, 28: a second later everything is closed, with a Redis that is away', () => {
  test.each(Object.entries(REVOCATIONS))('after %s', (name, { closes }) => {
    expect(open.get(name)).toEqual(ALL.filter((door) => !closes.includes(door)))
  })
})
