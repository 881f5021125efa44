import relay from 'vite-plugin-relay'

export default { plugins: [relay] }
