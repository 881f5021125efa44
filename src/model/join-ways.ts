/** How users become members of organizations. */
export const JOIN_WAYS = ['administrator', 'invitation', 'domain', 'provider', 'import', 'scim'] as const
export type JoinWay = (typeof JOIN_WAYS)[number]
