/** Which organization of the user the tokens of a client are for, where its request names none. */
export type OrganizationMode = 'none' | 'ask' | 'required'
