import type { SecondFactorMode } from '../model/sign-in-methods.ts'

/** Who presents a second factor, by the settings of a tenant. */
export type SecondFactorPolicy = { mode: SecondFactorMode; requiredOfRoles: readonly string[] }

export const selectPolicy = (
  tenant: { secondFactor: string; secondFactorRoles: string[] } | null,
): SecondFactorPolicy => ({
  mode: (tenant?.secondFactor ?? 'off') as SecondFactorMode,
  requiredOfRoles: tenant?.secondFactorRoles ?? [],
})

/** Whether the tenant requires two factors of a user with these roles. */
export const requiresTwoFactors = (
  { mode, requiredOfRoles }: SecondFactorPolicy,
  roles: readonly string[],
): boolean => mode === 'required' || roles.some((role) => requiredOfRoles.includes(role))
