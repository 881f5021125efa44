import type { Call, Gql, Rest } from '../call.ts'
import { EMAIL, PHONE } from '../fixture.ts'
import { readGone, unknownId } from '../queries.ts'

export const PASSCODE_OPERATIONS: Record<string, Call[]> = {
  sendEmailPasscode: [
    { to: 'nobody@parity.example' },
    { to: 'no address' },
    { to: EMAIL },
    { to: 'new@parity.example', createUser: true },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/passcodes/email', input],
    gql: (): Gql => ({ mutation: 'sendEmailPasscode', input, read: (payload) => payload }),
  })),
  sendSmsPasscode: [{ to: '+41790000000' }, { to: '0' }, { to: PHONE }].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/passcodes/sms', input],
    gql: (): Gql => ({ mutation: 'sendSmsPasscode', input, read: (payload) => payload }),
  })),
  getSignInLimits: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: ({ userId }): Rest => ['GET', `/users/${id === 'present' ? userId : id}/sign-in-limits`],
    gql: ({ userId }): Gql => ({
      query: `query ($id: ID!) { user(id: $id) { signInLimits { __typename channel wrongGuesses longCodesUntil sentCodes codesAgainAt } } }`,
      variables: { id: id === 'present' ? userId : id },
      read: ({ user }) => user && { limits: user.signInLimits },
    }),
  })),
  resetSignInLimits: [
    {
      title: 'an unknown id',
      rest: () => ['DELETE', `/users/${unknownId('user')}/sign-in-limits`],
      gql: () => ({ mutation: 'resetSignInLimits', input: { userId: unknownId('user') }, read: readGone }),
    },
    {
      title: 'a user',
      rest: ({ userId }) => ['DELETE', `/users/${userId}/sign-in-limits`],
      gql: ({ userId }) => ({ mutation: 'resetSignInLimits', input: { userId }, read: readGone }),
    },
  ],
  authenticatePasscode: [
    { to: EMAIL, code: '' },
    { to: EMAIL, code: 'wrong' },
    { to: EMAIL, sessionExpirationMinutes: 5 },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ code }): Rest => ['POST', '/passcodes/authenticate', { code, ...input }],
    gql: ({ code }): Gql => ({
      mutation: 'authenticatePasscode',
      input: { code, ...input },
      read: (payload) => payload,
    }),
  })),
}
