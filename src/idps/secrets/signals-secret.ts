import type { Ctx } from '../../context/context.ts'
import { randomToken, sha256Hex } from '../../core/crypto.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import { moveForward } from '../../schema/expected-updated-at.ts'
import { isIdpId } from '../../schema/idp-id.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { SignalsSecretRotation } from '../idps.fields.ts'
import { lockIdp } from '../idps.sql.ts'
import { type Idp, requireIdpControl, toIdp } from '../idps.ts'

/**
 * Replaces the secret with which a provider sends shared signals, which is returned only here. From then on, signals without it
 * are rejected. Throws NotFound, Conflict without a signalsIssuer, and Forbidden where linked people have roles that permit
 * what the caller may not.
 */
export async function rotateSignalsSecret(
  ctx: Ctx,
  idpId: string,
  input: unknown = {},
): Promise<{ identityProvider: Idp; secret: string }> {
  parseInput(SignalsSecretRotation, input)
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
  const secret = randomToken()
  const row = await ctx.db.transaction(async (tx) => {
    const current = await lockIdp(tx, idpId)
    if (!current) throw new NotFound('identity provider')
    await requireIdpControl(tx, ctx, idpId)
    if (current.signalsIssuer === null)
      throw new Conflict([], 'The provider has no signalsIssuer: its signals are not accepted.')
    const { organizationId, updatedAt } = current
    await recordEvents(tx, ctx, [createEvent('idp.signals_secret_rotated', { idpId, organizationId })])
    return tx.prisma.identityProvider.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id: idpId } },
      data: { signalsSecretHash: sha256Hex(secret), updatedAt: moveForward(updatedAt) },
    })
  })
  return { identityProvider: toIdp(row), secret }
}
