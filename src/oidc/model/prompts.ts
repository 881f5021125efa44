import { hasSignUp, type SignUpSettings } from '../../passcodes/sign-up-policy.ts'
import { PROMPTS, type Prompt } from './authorize-request.ts'

/** The `prompt` values of a tenant: `create` only while strangers may sign up. */
export const listSupportedPrompts = (tenant: SignUpSettings): Prompt[] =>
  PROMPTS.filter((prompt) => prompt !== 'create' || hasSignUp(tenant))
