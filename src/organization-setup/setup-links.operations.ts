import * as z from 'zod'
import { NotFound } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import type { RestRoute } from '../rest/route.ts'
import { textIn } from '../schema/formats.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { SetupLinkCreate } from './setup-links.fields.ts'
import { createSetupLink, revokeSetupLink } from './setup-links.ts'

const SetupLinkShape = z
  .object({
    uri: textIn('uri').meta({ description: 'The link. It is shown only once, and works once.' }),
    expiresAt: instantShape.meta({
      description: 'Until when it can be opened. The visit that it opens has an hour.',
    }),
  })
  .meta({ id: 'OrganizationSetupLink', description: 'A link for the set-up of an organization.' })

const PATH = '/organizations/:organizationId/setup-link'

export const setupLinkOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createOrganizationSetupLink',
    summary:
      'Creates a link with which somebody without an account proves domains of an organization and configures its identity provider. It replaces the former link. Requires scope idps:write too.',
    scope: 'organizations:write',
    isCreation: true,
    targets: ['organizationId'],
    input: SetupLinkCreate,
    isInputOptional: true,
    errors: [NotFound],
    output: SetupLinkShape.shape,
    rest: { method: 'POST', path: PATH, status: 201, response: SetupLinkShape },
    run: (ctx, { organizationId }, input) => createSetupLink(ctx, organizationId, input),
  }),
  ...defineMutation({
    name: 'revokeOrganizationSetupLink',
    summary: 'Ends the link for the set-up of an organization, and the visit that it opened.',
    scope: 'organizations:write',
    targets: ['organizationId'],
    errors: [NotFound],
    output: {
      organizationId: createIdShape('organization').meta({ description: 'Id of the organization.' }),
    },
    rest: { method: 'DELETE', path: PATH, message: 'The link was revoked.' },
    run: (ctx, { organizationId }) => revokeSetupLink(ctx, organizationId),
  }),
]
