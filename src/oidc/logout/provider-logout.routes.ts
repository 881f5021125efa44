import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { InvalidInput, Unavailable } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { readForm } from '../../http/request-body.http.ts'
import { findProviderRow } from '../../idps/sign-in-providers.ts'
import { addOAuthRoute, createUncachedJson } from '../../pages/responses.http.ts'
import { limitUnauthenticated, requireNetworkWithinLimit } from '../../passcodes/network-limits.ts'
import { logOutByProvider } from './provider-logout.ts'

/** Where identity providers send logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.5). */
export function addProviderLogoutRoutes(app: H3): void {
  addOAuthRoute(app, '/:tenant/oidc/backchannel-logout/:idp', { POST: handleLogoutToken }, 'token.refused')
}

/** The response to a token that is not accepted (section 2.8): 400, whatever the reason. */
function toOAuthError(error: unknown, idpId: string): unknown {
  const description =
    error instanceof InvalidInput
      ? error.fields.map(({ field, description: each }) => `${field} ${each}`).join('; ')
      : error instanceof Unavailable
        ? error.message
        : null
  if (description === null) return error
  return new OAuthError('invalid_request', description, {
    redirect: false,
    diagnostics: { idp: idpId },
    cause: error,
  })
}

async function handleLogoutToken({ event, ctx }: TenantCall): Promise<Response> {
  const idpId = event.context.params?.idp ?? ''
  const { logout_token: token } = await readForm(event)
  // The keys of the provider are not fetched for a network whose tokens were rejected too often.
  await requireNetworkWithinLimit('rejectIdentity', ctx)
  try {
    const row = await findProviderRow(ctx.db, idpId)
    if (!row) throw new InvalidInput([{ field: 'logout_token', description: 'is for an unknown provider' }])
    if (!token) throw new InvalidInput([{ field: 'logout_token', description: 'is required' }])
    await logOutByProvider(ctx, row, token)
  } catch (error) {
    const rejection = toOAuthError(error, idpId)
    if (rejection !== error) await limitUnauthenticated('rejectIdentity', ctx)
    throw rejection
  }
  return createUncachedJson({})
}
