import type { JWK } from 'jose'
import { test as base } from './visitor.ts'

/** `test` with the published key sets of tenants. */
export const test = base
  .extend('readKeySet', { scope: 'file' }, ({ app }) => async (slug: string): Promise<{ keys: JWK[] }> => {
    const response = await app.fetch(`/${slug}/.well-known/jwks.json`)
    return (await response.json()) as { keys: JWK[] }
  })
  .extend(
    'listAlgs',
    { scope: 'file' },
    ({ readKeySet }) =>
      async (slug: string) =>
        (await readKeySet(slug)).keys.map(({ alg }) => alg).sort(),
  )
