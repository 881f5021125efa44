import { createClient } from '../../src/clients/clients.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { test as base } from './fixtures.ts'

export const ORIGIN = 'https://admin.example.com'
export const OTHER_ORIGIN = 'https://other.example.com'

/** The token of a client that lists ORIGIN, in a tenant with another client that lists OTHER_ORIGIN. */
export const test = base.extend('authorization', { scope: 'file' }, async ({ tenant, ctx }) => {
  const newSpa = (allowedOrigins: string[]) =>
    createClient(ctx, {
      name: 'App',
      appType: 'single-page',
      type: 'login',
      allowedOrigins,
      scopes: ['users:read'],
    })
  const { client } = await newSpa([ORIGIN])
  await newSpa([OTHER_ORIGIN])
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:read'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
  return `Bearer ${token}`
})

export const toCorsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))
