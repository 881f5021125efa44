import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createBodyMapper, createListShape } from '../schema/response-shapes.ts'
import { listInvitations } from './invitation-list.ts'
import { InvitationCreate, InvitationResend, InvitationShape } from './invitations.fields.ts'
import { createInvitation, getInvitation, resendInvitation, revokeInvitation } from './invitations.ts'

const toInvitationBody = createBodyMapper(InvitationShape)

export const invitationRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/invitations',
    operationId: 'createInvitation',
    summary: 'Invites a person by a mail with a link. Callers can only give scopes that they have.',
    scope: 'users:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/invitations/${id}`,
    body: InvitationCreate,
    response: InvitationShape,
    handle: async (ctx, { body }) => toInvitationBody(await createInvitation(ctx, body)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/invitations',
    operationId: 'listInvitations',
    summary: 'The invitations of the tenant, oldest first.',
    scope: 'users:read',
    paged: true,
    response: createListShape('invitations', InvitationShape),
    handle: async (ctx, { paging }) =>
      toPageEnvelope(ctx, await listInvitations(ctx, paging), 'invitations', toInvitationBody),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/invitations/:invitationId',
    operationId: 'getInvitation',
    summary: 'An invitation.',
    scope: 'users:read',
    response: InvitationShape,
    handle: async (ctx, { params }) => toInvitationBody(await getInvitation(ctx, params.invitationId)),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/invitations/:invitationId/resend',
    operationId: 'resendInvitation',
    summary: 'Sends another mail, whose link replaces the former one.',
    scope: 'users:write',
    isBodyOptional: true,
    body: InvitationResend,
    response: InvitationShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toInvitationBody(await resendInvitation(ctx, params.invitationId, body)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/invitations/:invitationId',
    operationId: 'revokeInvitation',
    summary: 'Revokes an invitation: its link no longer works.',
    scope: 'users:write',
    response: DoneShape,
    errors: [409],
    handle: async (ctx, { params }) => {
      await revokeInvitation(ctx, params.invitationId)
      return toDoneBody(ctx, 'The invitation was revoked.')
    },
  }),
]
