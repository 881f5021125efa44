import { randomBytes } from 'node:crypto'
import { createPlatformCtx } from '../../src/core/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'
import { test as base, openApp } from './fixtures.ts'

/** The default settings of a tenant. */
export const UNSET_SETTINGS = {
  friendlyName: null,
  logoUrl: null,
  defaultAudience: null,
  loginUrl: null,
  supportUrl: null,
  dynamicRegistration: false,
  clientIdMetadataDocuments: false,
  openRegistration: false,
  defaultScopes: [],
  signUp: 'off',
  signUpDomains: [],
  signUpFields: [{ field: 'name', required: true, label: null, schema: null }],
  invitationLifetimeSeconds: 259_200,
  termsUrl: null,
  termsVersion: null,
  privacyUrl: null,
  signInMethods: ['passcode', 'passkey', 'provider'],
  offerPasskey: true,
  secondFactor: 'if-enrolled',
  secondFactorRoles: [],
  recoveryWaitingTime: 0,
  staySignedIn: 'always',
  sessionIdleSeconds: 43_200,
  sessionLifetimeSeconds: 2_592_000,
  newDeviceNotice: true,
  accountDeletionDays: 0,
  passcodeChannels: ['email', 'sms'],
  phoneCountry: null,
  defaultLocale: null,
  textOverrides: [],
  networkCodeLimit: 600,
  networkFailureLimit: 100,
  smsDailyLimit: 5000,
  smsPrefixLimit: 30,
  smsCountries: [],
  themeColor: null,
  darkThemeColor: null,
  darkLogoUrl: null,
  faviconUrl: null,
  cornerRadius: 10,
  font: 'system',
  mailSenderName: null,
  mailSenderAddress: null,
  mailReplyTo: null,
}

/** A slug that no tenant has. */
export const newSlug = (): string => `new-${randomBytes(4).toString('hex')}`

/** With `system`: the context of the platform in tenant `system`, which exists. */
export const test = base.extend('system', { scope: 'file' }, async () => {
  await openApp()
  await ensureTenant(SYSTEM_TENANT)
  return createPlatformCtx(SYSTEM_TENANT)
})
