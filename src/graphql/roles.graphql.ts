import { ROLE } from '../schema/model-enums.ts'
import { getEnumType } from './shape-fields.ts'

export const RoleEnum = getEnumType(ROLE.shape)
