import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { standardField, textField } from '../schema/fields.ts'
import { requiredText, text } from '../schema/input-shapes.ts'
import { asId, createIdShape } from '../schema/response-shapes.ts'

/** Entries of a mapping: their roles are no more than a member may hold. */
const MAX_ENTRIES = 100
/** Characters of a value, of which longer ones are not compared. */
export const MAX_VALUE_CHARACTERS = 200

/** A value of the claim, and a role that its members get. */
export type ClaimRole = { value: string; appRoleId: string }

const sample: ClaimRole = { value: 'finance', appRoleId: 'role_01k7r3m8wxe4gbr5v2c9t6hznq' }
const META = {
  value: {
    description: 'A value of the claim, such as the name or the id of a group.',
    example: sample.value,
  },
  appRoleId: { description: 'Id of a role that members get by it.', example: sample.appRoleId },
}
const DESCRIPTION = 'A role that members get by a value of the claim.'

const claimRole = z
  .strictObject(
    {
      value: requiredText(MAX_VALUE_CHARACTERS).meta(META.value),
      appRoleId: asId(requiredText(100)).meta(META.appRoleId),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .meta({ id: 'ClaimRoleInput', description: DESCRIPTION, example: sample })

const ClaimRoleShape = z
  .object({ value: z.string().meta(META.value), appRoleId: createIdShape('role').meta(META.appRoleId) })
  .meta({ id: 'ClaimRole', description: DESCRIPTION })

/** The roles of the members of an organization by a claim of its provider. */
export const CLAIMED_ROLE_FIELDS = {
  roleClaim: textField(text(200), 'groups'),
  claimRoles: standardField(
    z.array(claimRole, 'must be an array').max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`),
    z.array(ClaimRoleShape),
    [],
    [sample],
  ),
}

/** Issues of a mapping, which members of an organization alone get roles by. */
export function findMappingIssues({ claimRoles, roleClaim, organizationId }: Record<string, unknown>) {
  const issues: FieldIssue[] = []
  if (!Array.isArray(claimRoles) || claimRoles.length === 0) return issues
  if (!roleClaim) issues.push({ field: 'roleClaim', description: 'is required with claimRoles' })
  if (!organizationId)
    issues.push({ field: 'claimRoles', description: 'requires organizationId, whose members get the roles' })
  return issues
}
