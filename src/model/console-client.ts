/** The id of the client of the console in each tenant. */
export const CONSOLE_CLIENT_ID = 'client_01j0000000e0080000000c0ns0'
