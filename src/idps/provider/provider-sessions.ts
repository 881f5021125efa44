import type { Db, Tx } from '../../database/handle.ts'
import type { ProviderSession } from '../../generated/prisma/client.ts'

/** The session at a provider, before there is a browser session. */
export type ProviderOrigin = Omit<ProviderSession, 'tenantId' | 'sessionId'>

/** Stores where a browser session came from. A later sign-in at a provider replaces it. One statement. */
export async function storeProviderSession(
  { prisma, tenant }: Db,
  sessionId: string,
  origin: ProviderOrigin,
): Promise<void> {
  const key = { tenantId: tenant, sessionId }
  await prisma.providerSession.upsert({
    where: { tenantId_sessionId: key },
    create: { ...key, ...origin },
    update: origin,
  })
}

/** Deletes the ID tokens that are kept for the logout at a provider, of all its sessions or of some. */
export async function clearIdTokens(
  { prisma, tenant }: Tx,
  sessions: { idpId: string } | { sessionId: { in: string[] } },
): Promise<void> {
  await prisma.providerSession.updateMany({
    where: { tenantId: tenant, ...sessions, idToken: { not: null } },
    data: { idToken: null },
  })
}
