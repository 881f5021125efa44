/** Thrown for what an operator mends before the program can start: the message is one sentence for them. */
export class StartError extends Error {}
