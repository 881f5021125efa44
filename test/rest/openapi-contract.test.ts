import { describe, expect, test } from 'vitest'
import { checkAnswer, checkResponse } from '../support/openapi.ts'
import { getExample } from '../support/openapi-document.ts'

describe('the check of REST answers by openapi.json', () => {
  const requestId = 'trace-0123456789'
  const headers = () =>
    new Headers({
      'content-type': 'application/json',
      'x-request-id': requestId,
      'ratelimit-limit': '1',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '1',
    })
  const seen = { method: 'GET', path: '/demo/api/v1/sessions/session_x', status: 200, headers: headers() }

  test('accepts an answer that conforms to the document', async () => {
    const notFound = { message: 'No such session.', requestId, fields: [], code: 'NOT_FOUND' }
    for (const answer of [
      { body: getExample('/sessions/{sessionId}') },
      { method: 'HEAD', body: null },
      { status: 404, body: notFound },
    ])
      await expect(checkAnswer({ ...seen, ...answer })).resolves.toBeUndefined()
  })

  test.each<[string, object, RegExp]>([
    [
      'an unknown member',
      { body: { ...getExample('/sessions/{sessionId}'), tokenHash: 'x' } },
      /additional.*tokenHash/,
    ],
    ['a missing member', { body: { id: 'session_x' } }, /required property 'userId'/],
    [
      'a value of another kind',
      { body: { ...getExample('/sessions/{sessionId}'), expiresAt: 7 } },
      /\/expiresAt must be string/,
    ],
    ['an undocumented status', { status: 418, body: {} }, /status 418 is not documented/],
    [
      'an undocumented media type',
      { headers: new Headers({ 'content-type': 'text/html' }), body: null },
      /media type text\/html/,
    ],
    [
      'a missing header',
      {
        headers: new Headers({ 'content-type': 'application/json' }),
        body: getExample('/sessions/{sessionId}'),
      },
      /has no header X-Request-Id/,
    ],
    [
      'an error of another shape',
      { status: 404, body: { message: 'No such session.' } },
      /required property 'code'/,
    ],
    [
      'an answer where no operation is',
      { path: '/demo/api/v1/nothing', body: {} },
      /status 200 where no operation is/,
    ],
  ])('rejects %s', async (_, change, message) => {
    await expect(checkAnswer({ ...seen, body: null, ...change })).rejects.toThrow(message)
  })

  test('rejects a successful request with a body that the document does not permit', async () => {
    const path = '/demo/api/v1/sessions/authenticate'
    const authenticated = { method: 'POST', path, status: 200, headers: headers() }
    const body = getExample('/sessions/authenticate', 'application/json', 'post')
    await checkAnswer({ ...authenticated, body, sent: { sessionToken: 'x', clientId: null } })
    const rejected = checkAnswer({ ...authenticated, body, sent: { sessionToken: 'x', unknown: 1 } })
    await expect(rejected).rejects.toThrow(/was accepted/)
  })

  test('rejects a line that does not conform to the document', async () => {
    const answer = (...lines: object[]) =>
      checkResponse(
        '/demo/api/v1/users/export',
        undefined,
        new Response(lines.map((one) => `${JSON.stringify(one)}\n`).join(''), {
          headers: { ...Object.fromEntries(headers()), 'content-type': 'application/x-ndjson' },
        }),
      )
    const exported = getExample('/users/export', 'application/x-ndjson')
    expect((await (await answer(exported, exported)).text()).split('\n')).toHaveLength(3)
    const wrong = await answer(exported, { ...exported, passwordHash: 'x' })
    await expect(wrong.text()).rejects.toThrow(/passwordHash/)
  })
})
