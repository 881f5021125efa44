import { expect } from 'vitest'
import { env } from '../../src/core/env.ts'
import { test as base } from './fixtures.ts'

/** Expects an https URL, or one of this machine, without userinfo and fragment. */
export function expectEndpoint(value: unknown): void {
  const url = new URL(String(value))
  expect(url.protocol === 'https:' || url.hostname === 'localhost').toBe(true)
  expect([url.username, url.hash]).toEqual(['', ''])
}

/** `test` with the metadata of a tenant. */
export const test = base
  /** Fetches a URL of the issuer where the program listens. */
  .extend(
    'fetchEndpoint',
    { scope: 'file' },
    ({ app }) =>
      (url: string) =>
        fetch(url.replace(env.baseUrl, app.origin)),
  )
  .extend('discovered', { scope: 'file' }, async ({ app, tenant }) => {
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    return { response, metadata: (await response.json()) as Record<string, unknown> }
  })
  .extend('response', { scope: 'file' }, ({ discovered }) => discovered.response)
  .extend('metadata', { scope: 'file' }, ({ discovered }) => discovered.metadata)
  .extend('keys', { scope: 'file' }, async ({ fetchEndpoint, metadata }) => {
    const response = await fetchEndpoint(metadata.jwks_uri as string)
    return ((await response.json()) as { keys: Record<string, string>[] }).keys
  })
