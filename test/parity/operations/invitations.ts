import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, pageQuery, readGone, unknownId } from '../queries.ts'

const invitation = objectQuery('invitation', 'Invitation', 'ID')
const invitations = pageQuery('invitations', 'Invitation', 'invitations')
const INVALID = { email: 'x', expiresInSeconds: 1, locale: '!', note: 'x'.repeat(201) }
const toId = (which: string, invitationId: string): string =>
  which === 'present' ? invitationId : unknownId('invitation')

export const INVITATION_OPERATIONS: Record<string, Call[]> = {
  createInvitation: [
    INVALID,
    { email: 'new@parity.example', clientId: 'nobody' },
    { email: 'new@parity.example', isAdministrator: true, appRoleIds: [unknownId('role')] },
    { email: 'new@parity.example' },
    { email: 'Other@parity.example', name: 'Grace', note: 'Support', locale: 'de-at', expiresInSeconds: 300 },
  ].map((input) => ({
    title: Object.keys(input).join(', '),
    rest: (): Rest => ['POST', '/invitations', input],
    gql: (): Gql => ({ mutation: 'createInvitation', input, read: ({ invitation }) => invitation }),
  })),
  listInvitations: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/invitations?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => invitations(page),
  })),
  getInvitation: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ invitationId }): Rest => ['GET', `/invitations/${toId(which, invitationId)}`],
    gql: ({ invitationId }): Gql => ({ ...invitation, variables: { id: toId(which, invitationId) } }),
  })),
  resendInvitation: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { expiresInSeconds: 1 } },
    { which: 'present', input: { expiresInSeconds: 600 } },
    // The last message was sent a moment ago.
    { which: 'present', input: {} },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ invitationId }): Rest => ['POST', `/invitations/${toId(which, invitationId)}/resend`, input],
    gql: ({ invitationId }): Gql => ({
      mutation: 'resendInvitation',
      input: { invitationId: toId(which, invitationId), ...input },
      read: ({ invitation }) => invitation,
    }),
  })),
  revokeInvitation: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ invitationId }): Rest => ['DELETE', `/invitations/${toId(which, invitationId)}`],
    gql: ({ invitationId }): Gql => ({
      mutation: 'revokeInvitation',
      input: { invitationId: toId(which, invitationId) },
      read: readGone,
    }),
  })),
}
