import { describe, expect } from 'vitest'
import { Answer } from '../../../src/http/door/answer.ts'
import { sendTo, test } from '../../support/doors.ts'

describe('The doors', () => {
  test('send the same status, headers and body', async ({ app, otherOrigin, requests }) => {
    const others = await requests()
    const statuses = new Set()
    for (const [name, request] of Object.entries(await requests())) {
      const sent = await sendTo(app.origin, request)
      expect({ name, ...sent }).toEqual({ name, ...(await sendTo(otherOrigin, others[name] ?? request)) })
      statuses.add(sent.status)
    }
    expect([...statuses].sort()).toEqual([200, 204, 303, 400, 401, 404, 405, 413])
  })
})

describe('An answer', () => {
  const create = () => new Answer('{}', 200, [['content-type', 'application/json']])

  test('is a web response whose headers can be read and changed', async () => {
    const answer = create()
    answer.addHeader('set-cookie', 'a=1')
    expect(answer).toBeInstanceOf(Response)
    expect([...answer.headers]).toEqual([
      ['content-type', 'application/json'],
      ['set-cookie', 'a=1'],
    ])
    answer.headers.set('x-a', '1')
    answer.addHeader('set-cookie', 'b=2')
    expect([answer.headers.getSetCookie(), answer.headers.get('x-a')]).toEqual([['a=1', 'b=2'], '1'])
    expect(await answer.json()).toEqual({})
  })
})
