import { createPlatformCtx } from '../../src/context/context.ts'
import { buildCallbackUrl } from '../../src/idps/callback-url.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { test as base } from './journey.ts'
import { startUpstream } from './upstream.ts'

/** `test` with Chromium, and an identity provider of the tenant, `partner`, at which the user is asked for a name. */
export const test = base.extend('upstream', { scope: 'file' }, async ({ acme }, { onCleanup }) => {
  const upstream = await startUpstream(undefined, [buildCallbackUrl(acme, 'partner')])
  onCleanup(upstream.close)
  await createIdentityProvider(createPlatformCtx(acme), {
    id: 'partner',
    type: 'oidc',
    name: 'Partner',
    issuer: upstream.issuer,
    ...upstream.client,
  })
  return upstream
})
