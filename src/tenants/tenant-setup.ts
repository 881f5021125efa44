import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db } from '../database/handle.ts'
import { SIGNING_PERIOD_SECONDS } from '../keys/key-rotation.ts'
import { CONSOLE_CLIENT_ID } from '../model/console-client.ts'
import type { SetupStep } from './tenant-setup.fields.ts'
import { selectSetups } from './tenant-setup.sql.ts'
import { requireOperator } from './tenants.ts'

/** What a tenant needs before people use it. Its id is the slug. */
export type TenantSetup = { id: string; setup: SetupStep[] }

/** The setup of each of the tenants that exist, for a loader: one statement. */
export async function findSetups(db: Db, slugs: string[]): Promise<TenantSetup[]> {
  const now = new Date()
  return (await selectSetups(db, slugs, CONSOLE_CLIENT_ID)).map((facts) => {
    const dueAt = facts.keyActiveAt && addSeconds(facts.keyActiveAt, SIGNING_PERIOD_SECONDS)
    const once = (item: SetupStep['item'], done: boolean): SetupStep => ({ item, done, dueAt: null })
    return {
      id: facts.id,
      setup: [
        once('mail-server', env.smtpUrl !== undefined || facts.mailServer !== null),
        ...(facts.mailServer ? [once('own-mail-server', facts.mailFailingSince === null)] : []),
        ...(facts.smsGatewayUrl ? [once('own-sms-gateway', facts.smsFailingSince === null)] : []),
        once('administrator', facts.hasAdministrator),
        once('application', facts.hasApplication),
        once('logo', facts.hasLogo),
        once('support', facts.hasSupport),
        ...(facts.needsTerms ? [once('terms', facts.hasTerms)] : []),
        { item: 'signing-key', done: dueAt !== null && dueAt > now, dueAt },
      ],
    }
  })
}

/** Returns the setup of the tenant of the call. Throws NotFound. */
export async function getSetup(ctx: Ctx, slug = ctx.tenant): Promise<TenantSetup> {
  const [found] = await findSetups(ctx.db, [slug])
  if (!found) throw new NotFound('tenant')
  return found
}

/** Returns the setup of any tenant, for operators. Throws NotFound or Forbidden. */
export function getSetupBySlug(ctx: Ctx, slug: string): Promise<TenantSetup> {
  requireOperator(ctx, 'tenants:read')
  return getSetup(ctx, slug)
}
