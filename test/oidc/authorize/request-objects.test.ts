import { UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { postedAnswer } from '../../support/conformance-plan.ts'
import { answerIn, REDIRECT_URI } from '../../support/protocol.ts'
import { test as base, CUSTOM, ELSEWHERE, readMessage } from '../../support/response-modes.ts'

const objectOf = (claims: Record<string, unknown>): string => new UnsecuredJWT(claims).encode()

const test = base.extend(
  'reject',
  { scope: 'file' },
  ({ visit }) =>
    (claims: Record<string, unknown>, more: Record<string, string | null> = {}) =>
      visit({ state: null, request: objectOf(claims), ...more }),
)

describe('the rejection of a request object (OIDC Core, section 6.1)', () => {
  test('is sent by the response_mode and with the state of the object', async ({ reject }) => {
    const response = await reject({ response_mode: 'form_post', state: 'inside' })
    expect(postedAnswer(await response.text())).toMatchObject({
      target: REDIRECT_URI,
      answer: { error: 'request_not_supported', state: 'inside' },
    })
  })

  test('is sent as a message when the object asks for one', async ({ reject }) => {
    const response = await reject({ response_mode: 'web_message' })
    expect(await readMessage(response)).toMatchObject({
      origin: 'https://rp.example.com',
      response: { error: 'request_not_supported' },
    })
  })

  test('is sent to the registered redirect_uri of the object', async ({ reject }) => {
    const response = await reject({ redirect_uri: ELSEWHERE }, { redirect_uri: null })
    const [target] = response.headers.get('location')?.split('?') ?? []
    expect([target, answerIn(response.headers.get('location')).error]).toEqual([
      ELSEWHERE,
      'request_not_supported',
    ])
  })

  test('follows the parameters of the request where it has them, and empty ones, too', async ({ reject }) => {
    const inside = { response_mode: 'form_post', redirect_uri: ELSEWHERE, state: 'inside' }
    for (const state of ['outside', '']) {
      const location = (await reject(inside, { response_mode: 'query', state })).headers.get('location')
      expect(location?.split('?')[0]).toBe(REDIRECT_URI)
      expect(answerIn(location)).toMatchObject({ error: 'request_not_supported' })
      expect(answerIn(location).state ?? '').toBe(state)
    }
  })

  test.for([
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example.com/cb' }],
    ['a redirect_uri with U+0000', { redirect_uri: `${REDIRECT_URI}\u0000` }],
    ['no redirect_uri', {}],
    ['a redirect_uri that is a list', { redirect_uri: [REDIRECT_URI] }],
    [
      'a message to an origin that is not registered',
      { redirect_uri: ELSEWHERE, response_mode: 'web_message' },
    ],
    ['a message to a native application', { redirect_uri: CUSTOM, response_mode: 'web_message' }],
  ] as const)('stays on an error page for an object with %s', async ([, claims], { reject }) => {
    const response = await reject(claims, { redirect_uri: null })
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(postedAnswer(await response.text())).toBeNull()
  })

  test.for(['x', 'e30.e30.', 'e30.W10.', 'a.b.c.d.e'])(
    'is sent by query for the undecodable object %s',
    async (request, { visit }) => {
      const location = (await visit({ request })).headers.get('location')
      expect(answerIn(location)).toMatchObject({ error: 'request_not_supported', state: 'a-state' })
    },
  )
})
