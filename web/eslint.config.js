// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import tseslint from "typescript-eslint";

const here = fileURLToPath(new URL(".", import.meta.url)); // node 18 (Debian 12) has no import.meta.dirname

export default tseslint.config(
  { ignores: ["node_modules", "eslint.config.js", "build.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: here } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/no-confusing-void-expression": "off",
      // Everything that shows a text sets textContent: markup out of strings is how a log would get into the page.
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }, { object: "document", property: "write" }],
      "no-restricted-globals": ["error", "fetch", "XMLHttpRequest", "WebSocket", "EventSource"],
    },
  },
);
