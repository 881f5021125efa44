import { env } from '../core/env.ts'
import { getClientLogoUrl } from '../model/brand-images.ts'

/** The absolute URL of the logo of a client: that which was set, or one of this server for a data URL. */
export function resolveClientLogoUrl(
  tenantId: string,
  client: { id: string; logoUrl: string | null },
): string | null {
  const url = getClientLogoUrl(tenantId, client)
  return url?.startsWith('/') ? `${env.baseUrl}${url}` : url
}
