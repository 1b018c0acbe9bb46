"use strict";
(() => {
const field = document.getElementById("token"), problem = document.getElementById("problem");
document.getElementById("login").onsubmit = async event => {
  event.preventDefault();
  problem.textContent = "";
  const token = field.value.trim(), page = "/" + encodeURIComponent(token) + "/";
  try {
    const answer = await fetch(page + "-/server.json");
    if (answer.ok && token) return location.replace(page);
    problem.textContent = (await answer.text()).includes("for playing")
      ? "This token is for playing. The page takes one with “control”." : "That is not a token of this server.";
  } catch { problem.textContent = "The server does not answer." }
  field.select();
};
field.focus();
})();
