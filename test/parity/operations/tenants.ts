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
  getMessages: ['de', 'xx', ''].map((locale) => ({
    title: locale,
    rest: (): Rest => ['GET', `/messages?${new URLSearchParams({ locale })}`],
    gql: (): Gql => ({
      query: 'query($locale: LanguageTag!) { result: messages(locale: $locale) { key text } }',
      variables: { locale },
      read: ({ result }) => ({ messages: result }),
    }),
  })),
  getTenantSetup: [
    {
      title: 'of the tenant',
      rest: (): Rest => ['GET', '/setup'],
      gql: (): Gql => ({
        query: '{ result: tenant { setup { item done dueAt } } }',
        read: ({ result }: Json) => ({
          setup: result.setup.map((step: { item: string }) => ({ ...step, item: fromMember(step.item) })),
        }),
      }),
    },
  ],
  testDelivery: [{ channel: 'email' }].map((input) => ({
    title: input.channel,
    rest: (): Rest => ['POST', '/settings/test-delivery', input],
    gql: (): Gql => ({
      mutation: 'testDelivery',
      input: { channel: toMember(input.channel) },
      read: (result) => result,
    }),
  })),
  updateTenantSettings: [
    { logoUrl: 'javascript:x', supportUrl: 'x' },
    {
      signInMethods: ['passkey', 'passcode'],
      secondFactor: 'required',
      secondFactorRoles: ['admin', 'admin'],
    },
    { signUp: 'domains', signUpDomains: ['Example.com', 'example.com'], signUpFields: [{ field: 'name' }] },
    { sessionIdleSeconds: 3600, sessionLifetimeSeconds: 600 },
    { secondFactor: null, signUp: null, signInMethods: null, friendlyName: 'Parity' },
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
        ...(settings.signInMethods && { signInMethods: toEnum(settings.signInMethods) }),
        ...(settings.passcodeChannels && { passcodeChannels: toEnum(settings.passcodeChannels) }),
      },
      read: ({ tenant: { settings } }) => ({
        ...settings,
        signUp: fromMember(settings.signUp),
        staySignedIn: fromMember(settings.staySignedIn),
        secondFactor: fromMember(settings.secondFactor),
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
