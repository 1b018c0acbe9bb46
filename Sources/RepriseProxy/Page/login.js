"use strict";
(() => {
const field = document.getElementById("token"), problem = document.getElementById("problem");
document.getElementById("login").onsubmit = async event => {
  event.preventDefault();
  problem.textContent = "";
  const token = field.value.trim(), page = "/" + encodeURIComponent(token) + "/";
  try {
    const { ok } = await fetch(page + "-/server.json");
    if (ok && token) return location.replace(page);
    problem.textContent = "That is not the token of this server.";
  } catch { problem.textContent = "The server does not answer." }
  field.select();
};
field.focus();
})();
