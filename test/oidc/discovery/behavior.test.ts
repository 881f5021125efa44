import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { MEMBERS, test } from '../../support/metadata.ts'

describe('the provider metadata', () => {
  test('has a check for each member', ({ discovery }) => {
    expect([...MEMBERS].sort()).toEqual(Object.keys(discovery.metadata).sort())
    expect(Object.keys(discovery.checks).sort()).toEqual([...MEMBERS].sort())
  })

  test.for(MEMBERS)('%s describes the behavior of the provider', async (name, { discovery }) => {
    await discovery.checks[name]?.(name)
  })

  test('names the issuer of access tokens', async ({ plan }) => {
    const { tokens } = await plan.signIn()
    expect(decodeJwt(tokens.body.access_token as string)).toMatchObject({
      iss: plan.issuer,
      aud: `${plan.issuer}/oidc/userinfo`,
    })
  })
})
