import * as z from 'zod'
import { Conflict, NotFound, StepUpRequired } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope } from '../graphql/field-access.ts'
import { toObjectType } from '../graphql/shape-fields.ts'
import {
  acceptViewerInvitation,
  declineViewerInvitation,
  listViewerInvitations,
  type OwnInvitation,
} from '../invitations/own-invitations.ts'
import { defineMutation } from '../operations/mutation.ts'
import { MEMBERSHIP } from '../organizations/memberships.graphql.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { leaveViewerOrganization } from './organizations.ts'
import { Viewer } from './viewer.graphql.ts'

const ViewerInvitationShape = z
  .object({
    id: createIdShape('invitation').meta({ description: 'Id of the invitation.' }),
    organizationId: createIdShape('organization').meta({ description: 'The organization that invites.' }),
    organizationName: z.string().meta({ description: 'Its name.' }),
    inviterName: z.string().nullable().meta({ description: 'Name of the user who invites.' }),
    expiresAt: instantShape.meta({ description: 'Until when it can be accepted.' }),
  })
  .meta({
    id: 'ViewerInvitation',
    description: 'An invitation to an organization, for the verified address of the calling user.',
  })

builder.objectField(Viewer, 'invitations', (t) =>
  t.field({
    ...withAccountScope(
      'The invitations to organizations that the calling user may accept, newest first, 50 at most.',
    ),
    type: [toObjectType<OwnInvitation>(ViewerInvitationShape)],
    nullable: true,
    complexity: { field: 1, multiplier: 50 },
    resolve: (_viewer, _args, { ctx }) => listViewerInvitations(ctx),
  }),
)

defineMutation({
  name: 'acceptViewerInvitation',
  summary:
    'Makes the calling user a member of an organization that invites the verified address of the user. An invitation that gives roles or makes an administrator is accepted by its link alone.',
  scope: 'account',
  targets: ['invitationId'],
  errors: [NotFound],
  output: { membership: MEMBERSHIP },
  run: async (ctx, { invitationId }) => ({ membership: await acceptViewerInvitation(ctx, invitationId) }),
})

defineMutation({
  name: 'declineViewerInvitation',
  summary: 'Declines an invitation to an organization, which is revoked by this.',
  scope: 'account',
  targets: ['invitationId'],
  errors: [NotFound],
  output: {
    declinedInvitationId: createIdShape('invitation').meta({ description: 'Id of the declined invitation.' }),
  },
  run: (ctx, { invitationId }) => declineViewerInvitation(ctx, invitationId),
})

defineMutation({
  name: 'leaveViewerOrganization',
  summary:
    'Ends the membership of the calling user in an organization. The last administrator cannot leave while there are other members.',
  scope: 'account',
  targets: ['organizationId'],
  errors: [StepUpRequired, NotFound, Conflict],
  output: {
    deletedMembershipId: createIdShape('membership').meta({ description: 'Id of the ended membership.' }),
  },
  run: (ctx, { organizationId }) => leaveViewerOrganization(ctx, organizationId),
})
