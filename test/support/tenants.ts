import { randomBytes } from 'node:crypto'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { addStandards } from '../../src/schema/fields.ts'
import { TENANT_SETTINGS } from '../../src/tenants/tenants.fields.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'
import { test as base, openApp } from './fixtures.ts'

/** The settings of a tenant that sets none. */
export const UNSET_SETTINGS = addStandards(TENANT_SETTINGS)

/** Settings of which each differs from the standard one. */
export const OTHER_SETTINGS = {
  ...Object.fromEntries(
    Object.entries(TENANT_SETTINGS).map(([name, { standard, example }]) => [
      name,
      typeof standard === 'boolean' ? !standard : (example ?? 'https://acme.example'),
    ]),
  ),
  migrationEndsAt: '2027-03-31T22:00:00.000Z',
  signUpFields: [],
  invitationLifetimeSeconds: 3600,
  signInMethods: ['passkey'],
  secondFactor: 'off',
  passcodeChannels: ['email'],
  networkCodeLimit: 1000,
  networkFailureLimit: 200,
  smsDailyLimit: 0,
  smsPrefixLimit: 5,
  mailSenderAddress: 'id@mail.example',
}

/** A slug that no tenant has. */
export const newSlug = (): string => `new-${randomBytes(4).toString('hex')}`

/** With `system`: the context of the platform in tenant `system`, which exists. */
export const test = base.extend('system', { scope: 'file' }, async () => {
  await openApp()
  await ensureTenant(SYSTEM_TENANT)
  return createPlatformCtx(SYSTEM_TENANT)
})
