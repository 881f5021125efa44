import { ROLE } from '../schema/roles.ts'
import { getEnumType } from './shape-fields.ts'

export const RoleEnum = getEnumType(ROLE.shape)
