/** What a client shows to people, besides its color. */
export const CLIENT_TEXTS = ['name', 'logoUrl', 'policyUrl', 'termsUrl'] as const
type ClientText = (typeof CLIENT_TEXTS)[number]

/** The name, logo and links of a client in one language. Null is that of the client. */
export type ClientTranslation = { locale: string } & Record<ClientText, string | null>
