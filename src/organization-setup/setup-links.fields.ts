import * as z from 'zod'

/** Input of createOrganizationSetupLink. */
export const SetupLinkCreate = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'OrganizationSetupLinkCreate', description: 'It has no members.' })
