import { graphql } from 'react-relay/hooks'
import type { updateClientMutation } from '../../generated/updateClientMutation.graphql.ts'
import { useProblemMutation } from '../../parts/mutation.ts'

/** Changes members of an application, which all of its screens then show. */
export const useUpdateClient = () =>
  useProblemMutation<updateClientMutation>(graphql`
    mutation updateClientMutation($input: UpdateClientInput!) {
      updateClient(input: $input) {
        ... on UpdateClientPayload {
          client {
            ...applicationSettings_client @relay(mask: false)
            ...rejections_client
            ...claimMappings_client @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
