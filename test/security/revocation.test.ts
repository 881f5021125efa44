import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { DOORS, type Door, openDoorsAfterEach, REVOCATIONS } from '../support/revocations.ts'

let app: TestApp
let open: Map<string, Door[]>

beforeAll(async () => {
  app = await startApp()
  open = await openDoorsAfterEach(app)
})
afterAll(() => app.close())

const ALL = [...Object.keys(DOORS), 'subscription', 'offline subscription'] as Door[]

describe(`security 27, 28: a second later everything is closed, ${process.env.REDIS_URL ? 'with' : 'without'} Redis`, () => {
  test.each(Object.entries(REVOCATIONS))('after %s', (name, { closes }) => {
    expect(open.get(name)).toEqual(ALL.filter((door) => !closes.includes(door)))
  })
})
