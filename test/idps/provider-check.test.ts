import { describe, expect } from 'vitest'
import { test as base } from '../support/idp-links.ts'
import { answerAt } from '../support/provider-habits.ts'
import { toRestValue } from '../support/schema.ts'
import { startUpstream } from '../support/upstream.ts'

type Finding = { check: string; status: string; cause: string | null; description: string }
type Result = { succeeded: boolean; findings: Finding[] }

const DISCOVERY = '/.well-known/openid-configuration'

const test = base
  /** A provider that nothing is cached of. */
  .extend('fresh', async ({ app: _ }, { onCleanup }) => {
    const server = await startUpstream()
    onCleanup(server.close)
    return server
  })
  .extend('check', ({ rest, gql }) => async (idpId: string): Promise<Result> => {
    const { status, body } = await rest('POST', `/idps/${idpId}/test`)
    expect(status).toBe(200)
    const { requestId: _, ...result } = body
    const answer = await gql(
      `mutation ($id: ID!) { result: testIdentityProvider(input: { idpId: $id }) {
        ... on TestIdentityProviderPayload { succeeded findings { check status cause description } } } }`,
      { id: idpId },
    )
    const { succeeded, findings } = answer.body.data.result
    const plain = findings.map((finding: Finding) => toRestValue('IdentityProviderFinding', finding))
    expect({ succeeded, findings: plain }).toEqual(result)
    return result as Result
  })

const summarize = ({ findings }: Result) => findings.map(({ check, status, cause }) => [check, status, cause])

describe('testIdentityProvider', () => {
  test('finds that a provider is set up, and records who tested it', async ({
    upstream,
    newIdp,
    check,
    events,
  }) => {
    const idpId = await newIdp()
    const result = await check(idpId)
    expect(result.succeeded).toBe(true)
    expect(summarize(result)).toEqual([
      ['fields', 'passed', null],
      ['discovery', 'passed', null],
      ['keys', 'passed', null],
      ['authorization', 'passed', null],
      ['token', 'passed', null],
      ['userinfo', 'passed', null],
      ['client', 'passed', null],
    ])
    expect(JSON.stringify(result)).not.toContain(upstream.client.clientSecret)
    expect((await events({ subjectId: idpId })).at(-1)).toMatchObject({
      type: 'idp.tested',
      detail: { succeeded: true },
    })
  })

  test('finds a wrong client secret and a wrong client id', async ({ newIdp, check, events }) => {
    for (const wrong of [{ clientSecret: 'wrong' }, { clientId: 'nobody' }]) {
      const idpId = await newIdp(wrong)
      const result = await check(idpId)
      expect(result.succeeded).toBe(false)
      expect(summarize(result).at(-1)).toEqual(['client', 'failed', 'invalid_client'])
      expect((await events({ subjectId: idpId })).at(-1)).toMatchObject({ detail: { succeeded: false } })
    }
  })

  test('names the missing fields, and asks nothing', async ({ upstream, newIdp, check }) => {
    const { findings } = await check(await newIdp({ clientId: null }))
    expect(findings).toEqual([
      { check: 'fields', status: 'failed', cause: 'fields missing', description: 'clientId' },
    ])
    expect(upstream.asked).toEqual([])
  })

  test('finds an issuer that differs by a slash, and metadata that changed', async ({
    fresh,
    newIdp,
    check,
  }) => {
    const idpId = await newIdp({ issuer: `${fresh.issuer}/` })
    expect(summarize(await check(idpId))).toEqual([
      ['fields', 'passed', null],
      ['discovery', 'failed', 'issuer differs by a slash'],
    ])
    const good = await newIdp({ issuer: fresh.issuer })
    expect((await check(good)).succeeded).toBe(true)
    answerAt(fresh, DISCOVERY, { status: 404 })
    expect(summarize(await check(good)).at(-1)).toEqual(['discovery', 'failed', 'unexpected status'])
  })

  test('finds keys and endpoints that cannot be used', async ({ fresh, newIdp, check }) => {
    const idpId = await newIdp({ issuer: fresh.issuer })
    answerAt(fresh, '/jwks', { body: { keys: [null] } })
    answerAt(fresh, DISCOVERY, {
      body: {
        issuer: fresh.issuer,
        jwks_uri: `${fresh.issuer}/jwks`,
        authorization_endpoint: 'javascript:alert(1)',
        userinfo_endpoint: '',
      },
    })
    expect(summarize(await check(idpId))).toEqual([
      ['fields', 'passed', null],
      ['discovery', 'passed', null],
      ['keys', 'failed', 'keys unusable'],
      ['authorization', 'failed', 'endpoint unusable'],
      ['token', 'failed', 'endpoint missing'],
      ['userinfo', 'unknown', null],
    ])
  })

  test('says what it cannot know of a provider with errors of its own', async ({ fresh, newIdp, check }) => {
    const idpId = await newIdp({ issuer: fresh.issuer })
    for (const body of [{ error: 'invalid_request' }, { error: { code: 190 } }]) {
      answerAt(fresh, '/token', { status: 400, body })
      const result = await check(idpId)
      expect(result.succeeded).toBe(true)
      expect(summarize(result).at(-1)).toEqual(['client', 'unknown', null])
    }
    answerAt(fresh, '/token', { status: 503 })
    expect(summarize(await check(idpId)).at(-1)).toEqual(['client', 'failed', 'server error'])
  })

  test('rejects callers without idps:write, and unknown providers', async ({ rest, newIdp }) => {
    const idpId = await newIdp()
    expect((await rest('POST', `/idps/${idpId}/test`, undefined, { scopes: ['idps:read'] })).status).toBe(403)
    expect((await rest('POST', '/idps/nowhere/test')).status).toBe(404)
  })
})
