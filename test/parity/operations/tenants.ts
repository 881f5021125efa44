import type { Json } from '../../support/json.ts'
import type { Call, Gql, Rest } from '../call.ts'
import { select } from '../queries.ts'

type TriedSettings = {
  signInMethods?: string[] | null
  passcodeChannels?: string[] | null
  signUp?: string | null
  secondFactor?: string | null
  staySignedIn?: string | null
  secondFactorRoles?: string[] | null
}

const toMember = (name: string) => name.toUpperCase().replaceAll('-', '_')
const fromMember = (name: string) => name.toLowerCase().replaceAll('_', '-')
const toEnum = (names: string[]) => names.map(toMember)

export const TENANT_OPERATIONS: Record<string, Call[]> = {
  updateTenantSettings: [
    { logoUrl: 'javascript:x', supportUrl: 'x' },
    { dynamicRegistration: true, clientIdMetadataDocuments: true },
    { dynamicRegistration: null },
    { openRegistration: true },
    { openRegistration: null },
    { defaultScopes: ['openid', 'email', 'email'] },
    { defaultScopes: ['users:read', 'account', 'x'] },
    { defaultScopes: null },
    { signInMethods: ['passkey', 'passcode'] },
    { signInMethods: null },
    { signInMethods: [] },
    { invitationLifetimeSeconds: 3600 },
    { invitationLifetimeSeconds: null },
    { invitationLifetimeSeconds: 299 },
    { offerPasskey: false },
    { offerPasskey: null },
    { secondFactor: 'off' },
    { secondFactor: 'required', secondFactorRoles: ['admin', 'support', 'admin'] },
    { secondFactor: null, secondFactorRoles: null },
    { recoveryWaitingTime: 3600 },
    { recoveryWaitingTime: -1 },
    { recoveryWaitingTime: null },
    { staySignedIn: 'ask', sessionIdleSeconds: 600, sessionLifetimeSeconds: 3600 },
    { sessionIdleSeconds: 1, sessionLifetimeSeconds: 31_536_001 },
    { sessionIdleSeconds: 3600, sessionLifetimeSeconds: 600 },
    { newDeviceNotice: false },
    { newDeviceNotice: null },
    { accountDeletionDays: 90 },
    { accountDeletionDays: 91 },
    { accountDeletionDays: null },
    { staySignedIn: null, sessionIdleSeconds: null, sessionLifetimeSeconds: null },
    { passcodeChannels: ['sms'], phoneCountry: 'ch' },
    { smsCountries: ['CH', 'AT', 'CH'], smsDailyLimit: 100, smsPrefixLimit: null },
    { smsCountries: ['ch'], smsDailyLimit: -1, smsPrefixLimit: 0 },
    { smsCountries: null },
    { networkCodeLimit: 50, networkFailureLimit: null },
    { networkCodeLimit: 1, networkFailureLimit: 1e9 },
    { passcodeChannels: ['sms', 'email'], phoneCountry: 'CH' },
    { passcodeChannels: null, phoneCountry: '' },
    { defaultLocale: 'de' },
    { defaultLocale: 'xx' },
    { defaultLocale: null },
    { signUp: 'domains', signUpDomains: ['Example.com', 'example.com'] },
    { signUpDomains: [] },
    {
      signUpFields: [
        { field: 'givenName', required: true },
        { field: 'userMetadata.plan', label: 'Plan', schema: { type: 'string', enum: ['a', 'b'] } },
      ],
      termsUrl: 'https://acme.example/terms',
      termsVersion: '2',
    },
    {
      signUpFields: [{ field: 'email', required: true }, { field: 'name' }, { field: 'name' }],
      termsUrl: 'x',
    },
    { signUpFields: [{ field: 'userMetadata.x', schema: { type: 'string', pattern: '(a+)+$' } }] },
    { signUpFields: null },
    { signUp: null, signUpDomains: ['not a domain', ''] },
    { signUp: null, signUpDomains: null },
    { friendlyName: 'Parity', supportUrl: 'https://help.example' },
  ].map((settings: TriedSettings) => ({
    title: JSON.stringify(settings),
    rest: (): Rest => ['PATCH', '/settings', settings],
    gql: (): Gql => ({
      mutation: 'updateTenantSettings',
      input: {
        ...settings,
        ...(settings.signUp && { signUp: toMember(settings.signUp) }),
        ...(settings.staySignedIn && { staySignedIn: toMember(settings.staySignedIn) }),
        ...(settings.secondFactor && { secondFactor: toMember(settings.secondFactor) }),
        ...(settings.secondFactorRoles && { secondFactorRoles: toEnum(settings.secondFactorRoles) }),
        ...(settings.signInMethods && { signInMethods: toEnum(settings.signInMethods) }),
        ...(settings.passcodeChannels && { passcodeChannels: toEnum(settings.passcodeChannels) }),
      },
      read: ({ tenant: { settings } }) => ({
        ...settings,
        signUp: fromMember(settings.signUp),
        staySignedIn: fromMember(settings.staySignedIn),
        secondFactor: fromMember(settings.secondFactor),
        secondFactorRoles: settings.secondFactorRoles.map(fromMember),
        signInMethods: settings.signInMethods.map((name: string) => name.toLowerCase()),
        passcodeChannels: settings.passcodeChannels.map((name: string) => name.toLowerCase()),
      }),
    }),
  })),
  rotateSigningKeys: [
    { activateInSeconds: -1 },
    { activateInSeconds: 60, retireAtOnce: true },
    { activateInSeconds: 60, retireAtOnce: false },
    {},
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/keys/rotate', input],
    gql: (): Gql => ({ mutation: 'rotateSigningKeys', input, read: ({ keys }) => ({ keys }) }),
  })),
  getSigningKeys: [
    {
      title: 'all',
      rest: (): Rest => ['GET', '/keys'],
      gql: (): Gql => ({
        query: `{ result: signingKeys ${select('SigningKey')} }`,
        read: ({ result }: Json) => ({ keys: result }),
      }),
    },
  ],
}
